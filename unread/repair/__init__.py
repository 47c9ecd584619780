"""Rebuild, shadow check and reconcile: for admin and commands only."""
