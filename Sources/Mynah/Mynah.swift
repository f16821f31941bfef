// Its types follow, module by module.
