sap.ui.define([
	"sap/ui/Device",
	"sap/ui/core/UIComponent",
	"sap/ui/model/json/JSONModel",
	"vestibule/Session"
], (Device, UIComponent, JSONModel, Session) => {
	"use strict";

	/** The application. The unnamed model is the shop's OData service, "ui" what is open. */
	return UIComponent.extend("fernweh.dashboard.Component", {
		metadata: {
			interfaces: ["sap.ui.core.IAsyncContentCreation"],
			manifest: "json"
		},

		init() {
			UIComponent.prototype.init.call(this);
			document.body.classList.toggle("sapUiSizeCompact", !Device.support.touch);
			document.title = this.getModel("i18n").getResourceBundle().getText("app.title");

			this.setModel(new JSONModel({ product: null, full: false }), "ui");
			const router = this.getRouter();
			router.attachRouteMatched((event) => {
				this.getModel("ui").setData({
					product: event.getParameter("arguments").id ?? null,
					full: event.getParameter("name") === "productAlone"
				});
			});
			// The page of a product says that there is none; those that write, why a change was not saved.
			Session.watch(this, {
				own: [404, 409, 412, 422],
				told: (fault) => this.getEventBus().publish("dashboard", "fault", fault)
			});
			router.initialize();
		}
	});
});
