"""Pages of the app: Streamlit only, no model logic, no prices."""
