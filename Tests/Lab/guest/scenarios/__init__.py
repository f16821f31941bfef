"""One topic a file. A scenario is an async function; its docstring is the sentence that must hold."""
