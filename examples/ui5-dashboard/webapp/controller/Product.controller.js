sap.ui.define([
	"sap/m/MessageToast",
	"sap/ui/core/mvc/Controller"
], (MessageToast, Controller) => {
	"use strict";

	const states = {
		Placed: "Information",
		Paid: "Information",
		Shipped: "Success",
		Returned: "Warning",
		Cancelled: "Error"
	};

	/** One product beside the table: facts, related products, and who ordered it. */
	return Controller.extend("fernweh.dashboard.controller.Product", {
		onInit() {
			for (const name of ["product", "productAlone"]) {
				this.router().getRoute(name).attachPatternMatched(this.onMatched, this);
			}
		},

		router() {
			return this.getOwnerComponent().getRouter();
		},

		word(key, values) {
			return this.getOwnerComponent().getModel("i18n").getResourceBundle().getText(key, values);
		},

		onMatched(event) {
			const id = event.getParameter("arguments").id;
			// The id comes from the address bar: only digits make a key.
			if (!/^\d{1,18}$/.test(id)) {
				this.missing();
				return;
			}
			const path = `/Products(${id})`;
			if (this.getView().getBindingContext()?.getPath() === path) {
				return; // only the layout has changed
			}
			this.getView().bindElement({
				path,
				events: {
					dataRequested: () => this.getView().setBusy(true),
					dataReceived: (answer) => {
						this.getView().setBusy(false);
						// In a batch the fault may be that of the request before.
						const error = answer.getParameter("error");
						if ((error?.cause ?? error)?.status === 404) {
							this.missing();
						}
					}
				}
			});
			this.countSales();
		},

		missing() {
			MessageToast.show(this.word("product.missing"));
			this.onClose();
		},

		/** The heading above the orders says how many there are. */
		countSales() {
			const heading = this.byId("salesHeading");
			const sales = this.byId("sales").getBinding("items");
			heading.setBindingContext(sales.getHeaderContext());
			heading.bindProperty("text", {
				parts: ["i18n>sales.title", "i18n>sales.count", "$count"],
				formatter: (title, counted, count) => count === undefined || count === null
					? title
					: counted.replace("{0}", count)
			});
		},

		statusText(status) {
			return status ? this.word(`status.${status}`) : "";
		},

		statusState(status) {
			return states[status] ?? "None";
		},

		onFull() {
			const { product, full } = this.getOwnerComponent().getModel("ui").getData();
			this.router().navTo(full ? "product" : "productAlone", { id: product });
		},

		onClose() {
			this.router().navTo("products");
		},

		onRelated(event) {
			const id = event.getSource().getBindingContext().getProperty("id");
			this.router().navTo("product", { id });
		}
	});
});
