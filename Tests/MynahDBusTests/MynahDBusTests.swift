// Its tests follow with its types.
