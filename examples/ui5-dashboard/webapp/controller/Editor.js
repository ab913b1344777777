sap.ui.define([
	"sap/m/MessageBox",
	"sap/m/MessageToast",
	"sap/ui/core/Messaging",
	"sap/ui/core/mvc/Controller"
], (MessageBox, MessageToast, Messaging, Controller) => {
	"use strict";

	/**
	 * The base of the pages that write. Changes wait in the group `group` of the model, and saving sends them as one change
	 * set. `conflictText` says what a conflict is about, and `hash` matches its address.
	 */
	return Controller.extend("fernweh.dashboard.controller.Editor", {
		onInit() {
			this.getOwnerComponent().getEventBus().subscribe("dashboard", "fault", this.onFault, this);
		},

		onExit() {
			this.getOwnerComponent().getEventBus().unsubscribe("dashboard", "fault", this.onFault, this);
		},

		router() {
			return this.getOwnerComponent().getRouter();
		},

		word(key, values) {
			return this.getOwnerComponent().getModel("i18n").getResourceBundle().getText(key, values);
		},

		/** Sends what was changed. Each change carries the entity tag of the row that was edited in If-Match. */
		async onSave() {
			const model = this.getView().getModel();
			if (!model.hasPendingChanges(this.group)) {
				return;
			}
			this.forgetMessages();
			await model.submitBatch(this.group);
			if (!model.hasPendingChanges(this.group)) {
				MessageToast.show(this.word("edit.saved"));
			}
		},

		onDiscard() {
			this.forgetMessages();
			this.getView().getModel().resetChanges(this.group);
		},

		/** Says why nothing was saved. What was typed is still there, until the person decides. */
		onFault(channel, name, fault) {
			if (!this.hash.test(this.router().getHashChanger().getHash())) {
				return; // it is of another page
			}
			if (fault.status === 412) {
				this.showConflict();
			} else if (fault.status !== 404) {
				MessageToast.show(this.word("edit.refused"));
			}
		},

		/** Somebody else has changed or deleted a row since it was read. */
		showConflict() {
			if (this.conflict) {
				return;
			}
			this.conflict = true;
			const theirs = this.word("edit.theirs");
			MessageBox.warning(this.conflictText(), {
				title: this.word("edit.conflictTitle"),
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

		messages() {
			const model = this.getView().getModel();
			return Messaging.getMessageModel().getData().filter((message) => message.getMessageProcessor() === model);
		},

		/** Removes the messages of the last attempt: at its fields the service says anew what is wrong. */
		forgetMessages() {
			Messaging.removeMessages(this.messages());
		}
	});
});
