sap.ui.define([
	"sap/m/MessageBox",
	"sap/m/MessageToast",
	"sap/ui/core/Lib",
	"sap/ui/core/Messaging",
	"sap/ui/core/mvc/Controller"
], (MessageBox, MessageToast, Lib, Messaging, Controller) => {
	"use strict";

	// Changes wait in this group of the model. Saving sends them as one change set.
	const group = "reviews";

	/** The reviews: a table that is edited in place. */
	return Controller.extend("fernweh.dashboard.controller.Reviews", {
		onInit() {
			this.getOwnerComponent().getEventBus().subscribe("dashboard", "fault", this.onFault, this);
			this.complete();
		},

		onExit() {
			this.getOwnerComponent().getEventBus().unsubscribe("dashboard", "fault", this.onFault, this);
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

		word(key, values) {
			return this.getOwnerComponent().getModel("i18n").getResourceBundle().getText(key, values);
		},

		rows() {
			return this.byId("table").getRowBinding();
		},

		onCreate() {
			this.rows().create().created().catch(() => {}); // rejected when the new row is discarded
		},

		/** Sends what was changed. Each change carries the entity tag of the row that was edited in If-Match. */
		async onSave() {
			const model = this.getView().getModel();
			if (!model.hasPendingChanges(group)) {
				return;
			}
			this.forgetMessages();
			await model.submitBatch(group);
			if (!model.hasPendingChanges(group)) {
				MessageToast.show(this.word("reviews.saved"));
			}
		},

		onDiscard() {
			this.forgetMessages();
			this.getView().getModel().resetChanges(group);
		},

		onDelete() {
			const chosen = this.byId("table").getSelectedContexts();
			if (chosen.length === 0) {
				return;
			}
			MessageBox.confirm(this.word("reviews.deleteAsk", [chosen.length]), {
				actions: [this.word("reviews.delete"), MessageBox.Action.CANCEL],
				onClose: (answer) => {
					if (answer === this.word("reviews.delete")) {
						// A fault comes to onFault, and the row back into the table.
						chosen.forEach((context) => context.delete("$auto").catch(() => {}));
					}
				}
			});
		},

		/** Says why nothing was saved. What was typed is still there, until the person decides. */
		onFault(channel, name, fault) {
			if (fault.status === 412) {
				this.showConflict();
			} else if (fault.status !== 404) {
				MessageToast.show(this.word("reviews.refused"));
			}
		},

		/** Somebody else has changed or deleted a row since it was read. */
		showConflict() {
			if (this.conflict) {
				return;
			}
			this.conflict = true;
			const theirs = this.word("reviews.theirs");
			MessageBox.warning(this.word("reviews.conflict"), {
				title: this.word("reviews.conflictTitle"),
				actions: [theirs, MessageBox.Action.CLOSE],
				emphasizedAction: theirs,
				onClose: (answer) => {
					this.conflict = false;
					if (answer === theirs) {
						this.onDiscard();
						this.rows().refresh();
					}
				}
			});
		},

		/** Removes the messages of the last attempt: at its fields the service says anew what is wrong. */
		forgetMessages() {
			const model = this.getView().getModel();
			Messaging.removeMessages(Messaging.getMessageModel().getData().filter((message) => message.getMessageProcessor() === model));
		}
	});
});
