"""What avoids a defect: one file a kind, applied in a scope, proved by running."""
