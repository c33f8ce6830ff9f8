"""What changes between two releases of torch: measured matrix, difference, the user's own command, bisection."""
