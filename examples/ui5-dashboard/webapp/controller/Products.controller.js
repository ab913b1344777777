sap.ui.define([
	"sap/ui/core/mvc/Controller",
	"sap/ui/model/Filter",
	"sap/ui/model/FilterOperator",
	"fernweh/dashboard/model/sorting"
], (Controller, Filter, FilterOperator, sorting) => {
	"use strict";

	// What "availability" means, as filters over the columns.
	const availability = {
		stocked: () => [
			new Filter("stock", FilterOperator.GT, 0),
			new Filter("discontinued", FilterOperator.EQ, false)
		],
		soldOut: () => [new Filter("stock", FilterOperator.EQ, 0)],
		discontinued: () => [new Filter("discontinued", FilterOperator.EQ, true)]
	};

	/** The table of all products: it grows while one scrolls, and the service does the rest. */
	return Controller.extend("fernweh.dashboard.controller.Products", {
		onInit() {
			// The table is bound as soon as the view hears of the model.
			this.byId("table").attachEventOnce("modelContextChange", () => {
				this.countRows();
				this.rows().attachEventOnce("dataReceived", () => setTimeout(() => this.complete()));
			});
		},

		/**
		 * Adds what nobody needs to see the first rows: filters, and the menus of
		 * the columns. Their controls are as much again as all that was loaded.
		 */
		async complete() {
			const [filters, menus] = await Promise.all(["Filters", "Menus"].map((name) => this.loadFragment({
				name: `fernweh.dashboard.view.${name}`,
				addToDependents: false
			})));
			filters.forEach((filter) => this.byId("filters").addItem(filter));
			const table = this.byId("table");
			for (const menu of menus) {
				table.addDependent(menu);
				const key = menu.getId().split("--").pop().replace("menu", "column");
				this.byId(key).setHeaderMenu(menu);
			}
		},

		/** The heading says how many products fit. */
		countRows() {
			const heading = this.byId("heading");
			heading.setBindingContext(this.rows().getHeaderContext());
			heading.bindProperty("text", {
				parts: ["i18n>products.title", "i18n>products.count", "$count"],
				formatter: (title, counted, count) => count === undefined || count === null
					? title
					: counted.replace("{0}", count)
			});
		},

		/** The list binding behind the table. */
		rows() {
			return this.byId("table").getBinding("items");
		},

		onSearch() {
			const $search = this.phrases(this.byId("search").getValue());
			// A parameter that is undefined is taken away again.
			this.rows().changeParameters({ $search: $search === "" ? undefined : $search });
		},

		/**
		 * Every word as a phrase, so that AND, NOT and brackets are words too. A
		 * double quote cannot be searched for: $search has no escape for it.
		 */
		phrases(text) {
			return text.split(/[\s"]+/)
				.filter((word) => word !== "")
				.map((word) => `"${word}"`)
				.join(" ");
		},

		onFilter() {
			const filters = availability[this.byId("availability").getSelectedKey()]?.() ?? [];
			const categories = this.byId("categories").getSelectedKeys()
				.map((id) => new Filter("category_id", FilterOperator.EQ, id));
			if (categories.length > 0) {
				filters.push(new Filter({ filters: categories, and: false }));
			}
			const supplier = this.byId("supplier").getSelectedKey();
			if (supplier !== "") {
				filters.push(new Filter("supplier_id", FilterOperator.EQ, supplier));
			}
			this.rows().filter(filters.length > 0 ? new Filter({ filters, and: true }) : []);
		},

		onReset() {
			this.byId("search").setValue("");
			this.byId("categories").setSelectedKeys([]);
			this.byId("supplier").setSelectedKey("").setValue("");
			this.byId("availability").setSelectedKey("all");
			this.onSearch();
			this.onFilter();
		},

		onSort(event) {
			sorting.sort(this.byId("table"), this.rows(), event.getParameter("item"));
		},

		onAnalysis() {
			this.getOwnerComponent().getRouter().navTo("analysis");
		},

		onOpen(event) {
			const id = event.getSource().getBindingContext().getProperty("id");
			this.getOwnerComponent().getRouter().navTo("product", { id });
		}
	});
});
