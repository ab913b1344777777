sap.ui.define([
	"sap/ui/core/Messaging"
], (Messaging) => {
	"use strict";

	// Where the sign-in leads back to. A fragment survives the redirects by itself.
	function signIn() {
		location.assign(`/login?redirect=${encodeURIComponent(location.pathname)}${location.hash}`);
	}

	function show(message, bundle, closed) {
		// Few ever see the box: it comes after the first rows.
		sap.ui.require(["sap/m/MessageBox"], (MessageBox) => MessageBox.error(bundle.getText("fault.text"), {
			title: bundle.getText("fault.title"),
			details: message.getMessage(),
			actions: [MessageBox.Action.RETRY, MessageBox.Action.CLOSE],
			emphasizedAction: MessageBox.Action.RETRY,
			onClose(action) {
				closed();
				if (action === MessageBox.Action.RETRY) {
					location.reload();
				}
			}
		}));
	}

	return {
		/**
		 * Tells the user about requests that failed, in one box however many
		 * there are. A session that has ended leads to the sign-in; that
		 * something does not exist is told by the page that asked for it.
		 */
		watch(bundle) {
			const messages = Messaging.getMessageModel().bindList("/");
			let removing = false;
			let box = false;
			messages.attachChange(() => {
				const technical = messages.getCurrentContexts()
					.map((context) => context.getObject())
					.filter((message) => message.getTechnical());
				if (technical.length === 0 || removing) {
					return;
				}
				removing = true;
				Messaging.removeMessages(technical);
				removing = false;
				const status = (message) => message.getTechnicalDetails()?.httpStatus;
				if (technical.some((message) => status(message) === 401)) {
					signIn();
					return;
				}
				const fault = technical.find((message) => status(message) !== 404);
				if (fault && !box) {
					box = true;
					show(fault, bundle, () => {
						box = false;
					});
				}
			});
		}
	};
});
