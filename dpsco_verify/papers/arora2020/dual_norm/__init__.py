"""The definition of the dual norm in Section 2; it carries no label of its own."""
