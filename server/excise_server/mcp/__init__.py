"""The candidates of a repository for programs that speak the Model Context Protocol: read only."""
