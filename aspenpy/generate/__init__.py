"""Programs made from models."""
