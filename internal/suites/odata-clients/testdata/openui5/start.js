globalThis["sap-ui-config"] = { theme: "sap_horizon", language: "en" }; // what the dashboard's build expects before UI5 starts
