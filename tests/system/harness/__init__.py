"""What the black-box tests stand on: real processes, raw sockets, and no fixed port."""
