sap.ui.define([
	"sap/ui/core/mvc/Controller"
], (Controller) => {
	"use strict";

	/** The frame around the pages: the way home and the way out. */
	return Controller.extend("fernweh.dashboard.controller.App", {
		onHome() {
			location.assign("/");
		},

		onSignOut() {
			document.getElementById("sign-out").requestSubmit();
		}
	});
});
