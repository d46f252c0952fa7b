"""placeholder"""
STORY: dict = {}
