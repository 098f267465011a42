"""Result tables made readable; nothing here computes."""
