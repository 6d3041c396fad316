"""Systems with noise by this project's bounds."""
