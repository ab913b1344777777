sap.ui.define([
	"sap/m/MessageBox",
	"sap/ui/core/Messaging"
], (MessageBox, Messaging) => {
	"use strict";

	// Where the sign-in leads back to. A fragment survives the redirects by itself.
	function signIn() {
		location.assign(`/login?redirect=${encodeURIComponent(location.pathname)}${location.hash}`);
	}

	function show(message, bundle) {
		MessageBox.error(bundle.getText("fault.text"), {
			title: bundle.getText("fault.title"),
			details: message.getMessage(),
			actions: [MessageBox.Action.RETRY, MessageBox.Action.CLOSE],
			emphasizedAction: MessageBox.Action.RETRY,
			onClose(action) {
				if (action === MessageBox.Action.RETRY) {
					location.reload();
				}
			}
		});
	}

	return {
		/**
		 * Tells the user about requests that failed, in one box however many
		 * there are. A session that has ended leads to the sign-in.
		 */
		watch(model, bundle) {
			const messages = Messaging.getMessageModel().bindList("/");
			let open = false;
			messages.attachChange(() => {
				const technical = messages.getCurrentContexts()
					.map((context) => context.getObject())
					.filter((message) => message.getTechnical());
				const gone = technical.some((message) => message.getTechnicalDetails()?.httpStatus === 401);
				if (technical.length === 0 || open) {
					return;
				}
				open = true;
				Messaging.removeMessages(technical);
				if (gone) {
					signIn();
					return;
				}
				show(technical[0], bundle);
				open = false;
			});
		}
	};
});
