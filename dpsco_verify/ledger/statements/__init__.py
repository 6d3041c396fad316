"""One folder for each statement of the paper: its text, its readings, how each is decided, its proof steps."""
