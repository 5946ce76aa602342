"""Treewright's application model: documents, tables, runs and jobs, without widgets."""
