"""What runs in a process of its own (`bench.child`): each module has one `measure(**options)`."""
