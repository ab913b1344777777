sap.ui.define([
	"sap/ui/core/Lib",
	"sap/ui/core/format/NumberFormat",
	"sap/ui/core/mvc/Controller",
	"sap/ui/model/Filter",
	"sap/ui/model/FilterOperator",
	"sap/ui/model/odata/v4/ODataModel",
	"fernweh/dashboard/model/sorting"
], (Lib, NumberFormat, Controller, Filter, FilterOperator, ODataModel, sorting) => {
	"use strict";

	/**
	 * Stock and prices by category, summed up by the service: every group that
	 * somebody opens is one more request with $apply.
	 */
	return Controller.extend("fernweh.dashboard.controller.Analysis", {
		onInit() {
			// A model of its own: once the list has expanded a category, that of OpenUI5
			// 1.152 takes the category in a line of sums for an entity, and opens no group.
			this.getView().setModel(new ODataModel({
				serviceUrl: this.getOwnerComponent().getManifestEntry("/sap.app/dataSources/shop/uri"),
				autoExpandSelect: true,
				operationMode: "Server"
			}));
			this.complete();
		},

		onExit() {
			this.getView().getModel().destroy();
		},

		/** Loads the library of the table, which no other page needs, and then the table. */
		async complete() {
			const page = this.byId("page");
			page.setBusy(true);
			await Lib.load({ name: "sap.ui.table" });
			const table = await this.loadFragment({ name: "fernweh.dashboard.view.AnalysisTable" });
			this.byId("aggregation").setGroupHeaderFormatter((row, path) => this.groupTitle(row, path));
			page.setContent(table);
			page.setBusy(false);
		},

		word(key) {
			return this.getOwnerComponent().getModel("i18n").getResourceBundle().getText(key);
		},

		groupTitle(row, path) {
			if (path === "discontinued") {
				return row.getProperty(path) ? this.word("product.discontinued") : this.word("analysis.sold");
			}
			return row.getProperty("category/name");
		},

		from(text, number) {
			return text?.replace("{0}", NumberFormat.getIntegerInstance({ groupingEnabled: true }).format(number));
		},

		/** The supplier is filtered before the sums are made, their amount after that. */
		onFilter() {
			const filters = [];
			const supplier = this.byId("supplier").getSelectedKey();
			if (supplier !== "") {
				filters.push(new Filter("supplier_id", FilterOperator.EQ, supplier));
			}
			const atLeast = Number(this.byId("atLeast").getSelectedKey());
			if (atLeast > 0) {
				filters.push(new Filter("stock", FilterOperator.GE, atLeast));
			}
			this.byId("table").getBinding("rows").filter(filters);
		},

		onSort(event) {
			sorting.sort(this.byId("table"), this.byId("table").getBinding("rows"), event.getParameter("item"));
		},

		onBack() {
			this.getOwnerComponent().getRouter().navTo("products");
		}
	});
});
