"""What runs an environment: state, workspace, clock, ids, the contract interpreter and the rendered backend."""
