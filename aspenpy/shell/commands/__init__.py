"""The commands, each a function with its name, options and examples above; `aspenpy.shell.registry` finds them."""
