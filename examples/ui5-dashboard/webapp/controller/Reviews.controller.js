sap.ui.define([
	"fernweh/dashboard/controller/Editor",
	"sap/m/MessageBox",
	"sap/ui/core/Lib"
], (Editor, MessageBox, Lib) => {
	"use strict";

	/** The reviews: a table that is edited in place. */
	return Editor.extend("fernweh.dashboard.controller.Reviews", {
		group: "reviews",
		hash: /^\/?reviews$/,

		onInit() {
			Editor.prototype.onInit.call(this);
			this.complete();
		},

		conflictText() {
			return this.word("reviews.conflict");
		},

		/** Loads the table as the page of the orders does. */
		async complete() {
			const page = this.byId("page");
			page.setBusyIndicatorDelay(0).setBusy(true);
			await Lib.load({ name: "sap.ui.mdc" });
			const [filters, table] = await this.loadFragment({ name: "fernweh.dashboard.view.Reviews", addToDependents: false });
			this.byId("header").addContent(filters);
			page.setContent(table);
			page.setBusy(false);
		},

		rows() {
			return this.byId("table").getRowBinding();
		},

		onCreate() {
			this.rows().create().created().catch(() => {}); // rejected when the new row is discarded
		},

		onDelete() {
			const chosen = this.byId("table").getSelectedContexts();
			if (chosen.length === 0) {
				return;
			}
			MessageBox.confirm(this.word("reviews.deleteAsk", [chosen.length]), {
				actions: [this.word("edit.delete"), MessageBox.Action.CANCEL],
				onClose: (answer) => {
					if (answer === this.word("edit.delete")) {
						// A fault comes to onFault, and the row back into the table.
						chosen.forEach((context) => context.delete("$auto").catch(() => {}));
					}
				}
			});
		}
	});
});
