sap.ui.define([
	"fernweh/dashboard/controller/Editor",
	"sap/m/MessageToast",
	"sap/ui/core/Messaging",
	"sap/ui/core/message/Message",
	"sap/ui/model/Filter",
	"sap/ui/model/FilterOperator"
], (Editor, MessageToast, Messaging, Message, Filter, FilterOperator) => {
	"use strict";

	/** One order with its items. A new one is created together with them, in one request. */
	return Editor.extend("fernweh.dashboard.controller.Order", {
		group: "order",
		hash: /^\/?orders\/./,

		onInit() {
			Editor.prototype.onInit.call(this);
			this.router().getRoute("order").attachPatternMatched(this.onMatched, this);
		},

		conflictText() {
			return this.word("order.conflict");
		},

		onMatched(event) {
			const id = event.getParameter("arguments").id;
			this.forgetMessages();
			this.getView().getModel().resetChanges(this.group);
			if (id === "new") {
				this.begin();
			} else if (/^\d{1,18}$/.test(id)) { // the id comes from the address bar
				this.show(id);
			} else {
				this.onBack();
			}
		},

		show(id) {
			this.getView().bindElement({
				path: `/Orders(${id})`,
				parameters: { $$updateGroupId: this.group },
				events: {
					dataReceived: (answer) => {
						const error = answer.getParameter("error");
						if ((error?.cause ?? error)?.status === 404) {
							MessageToast.show(this.word("order.missing"));
							this.onBack();
						}
					}
				}
			});
		},

		/** Begins a new order with one item. Both wait in the model until somebody saves them. */
		async begin() {
			const view = this.getView();
			view.unbindElement();
			const list = view.getModel().bindList("/Orders", undefined, [], [], { $$updateGroupId: this.group });
			const order = list.create({ status: "Placed", total: "0", items: [] }, true);
			view.setBindingContext(order);
			this.onAdd();
			try {
				await order.created();
			} catch {
				return; // it was discarded
			}
			const id = order.getProperty("id");
			view.setBindingContext(null);
			this.router().navTo("order", { id }, true);
		},

		/** What is refreshed after a conflict. */
		rows() {
			return this.getView().getElementBinding();
		},

		items() {
			return this.byId("items").getBinding("items");
		},

		/** The items that are to be saved, in their order. */
		current() {
			return this.items().getAllCurrentContexts();
		},

		onAdd() {
			const line = Math.max(0, ...this.current().map((one) => one.getProperty("line_no"))) + 1;
			this.items().create({ line_no: line, quantity: 1 }, true, true).created().catch(() => {}); // rejected when it is discarded
		},

		/** Removes an item, once the order is saved. */
		onRemove(event) {
			const item = event.getParameter("listItem").getBindingContext();
			item.delete(item.isTransient() ? undefined : this.group).catch(() => {});
		},

		/** An item costs what its product costs, until somebody types another price. */
		async onProduct(event) {
			const item = event.getSource().getBindingContext();
			const id = item.getProperty("product_id");
			if (!id) {
				return;
			}
			const product = this.getView().getModel().bindContext(`/Products(${id})`, undefined, { $select: "price" });
			try {
				const before = item.getProperty("unit_price");
				const price = await product.requestObject("price");
				if (item.getProperty("unit_price") === before) {
					item.setProperty("unit_price", price);
				}
			} catch {
				// Whether there is such a product the service says when the order is saved.
			}
			product.destroy();
		},

		/** Lists the rows whose name has what was typed. */
		onSuggest(event) {
			const text = event.getParameter("suggestValue");
			const rows = event.getSource().getBinding("suggestionItems");
			rows.filter(new Filter({ path: "name", operator: FilterOperator.Contains, value1: text, caseSensitive: false }));
			if (rows.isSuspended()) {
				rows.resume();
			}
		},

		async onSave() {
			this.addUp();
			const sent = this.current();
			await Editor.prototype.onSave.call(this);
			this.place(sent);
		},

		/** The total is that of the items. It moves the order's entity tag, so that two people do not add to one order unawares. */
		addUp() {
			const cents = this.current().reduce((sum, item) =>
				sum + Math.round(Number(item.getProperty("unit_price") ?? 0) * 100) * (item.getProperty("quantity") ?? 0), 0);
			const order = this.getView().getBindingContext();
			const total = (cents / 100).toFixed(2);
			if (Number(order.getProperty("total")) !== Number(total)) {
				order.setProperty("total", total);
			}
		},

		/** Moves the messages for the items of a new order to their fields: the service counts the items that were sent. */
		place(sent) {
			for (const message of this.messages()) {
				const [, place, index, property] = /\/(items\/(\d+)\/)(\w+)$/.exec(message.getTarget() ?? "") ?? [];
				if (sent[index]) {
					Messaging.removeMessages(message);
					Messaging.addMessages(new Message({
						message: message.getMessage().replace(place, ""),
						type: message.getType(),
						target: `${sent[index].getPath()}/${property}`,
						processor: message.getMessageProcessor(),
						persistent: true
					}));
				}
			}
		},

		onDiscard() {
			const begun = this.getView().getBindingContext()?.isTransient();
			Editor.prototype.onDiscard.call(this);
			if (begun) {
				this.onBack();
			}
		},

		onBack() {
			this.router().navTo("orders");
		}
	});
});
