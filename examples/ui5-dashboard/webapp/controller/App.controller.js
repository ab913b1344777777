sap.ui.define([
	"sap/ui/core/mvc/Controller",
	"vestibule/Session"
], (Controller, Session) => {
	"use strict";

	/** The frame around the pages: the way home and the way out. */
	return Controller.extend("fernweh.dashboard.controller.App", {
		onHome() {
			location.assign("/");
		},

		onProducts() {
			this.getOwnerComponent().getRouter().navTo("products");
		},

		onOrders() {
			this.getOwnerComponent().getRouter().navTo("orders");
		},

		onReviews() {
			this.getOwnerComponent().getRouter().navTo("reviews");
		},

		onSignOut() {
			Session.signOut();
		}
	});
});
