sap.ui.define([
	"sap/ui/core/Lib",
	"sap/ui/core/mvc/Controller"
], (Lib, Controller) => {
	"use strict";

	/** The orders: a table and filters that make themselves from the annotations of the service. */
	return Controller.extend("fernweh.dashboard.controller.Orders", {
		onInit() {
			this.complete();
		},

		/** Loads what makes them: it is as heavy as all the rest, and no other page needs it. */
		async complete() {
			const page = this.byId("page");
			page.setBusyIndicatorDelay(0).setBusy(true);
			await Lib.load({ name: "sap.ui.mdc" });
			const [filters, table] = await this.loadFragment({ name: "fernweh.dashboard.view.Orders", addToDependents: false });
			this.byId("header").addContent(filters);
			page.setContent(table);
			page.setBusy(false);
			// What the page of an order has saved is seen here, too.
			this.router().getRoute("orders").attachPatternMatched(() => table.getRowBinding()?.refresh());
		},

		router() {
			return this.getOwnerComponent().getRouter();
		},

		onCreate() {
			this.router().navTo("order", { id: "new" });
		},

		onOrder(event) {
			this.router().navTo("order", { id: event.getParameter("bindingContext").getProperty("id") });
		}
	});
});
