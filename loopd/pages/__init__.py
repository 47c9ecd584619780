"""The pages people see: the first screen rendered here, then taken over by the modules of `static/js`."""
