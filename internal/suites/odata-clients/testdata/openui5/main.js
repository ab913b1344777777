// Whole documents, links and rules with OpenUI5's V4 model, for internal/suites/odata-clients. The token is the fragment of
// the address, and window.answer is what the test reads.
sap.ui.define(["sap/m/Input", "sap/ui/core/Messaging", "sap/ui/model/odata/v4/ODataModel"], (Input, Messaging, ODataModel) => {
	"use strict";

	const group = "orders";
	const model = new ODataModel({
		serviceUrl: "/odata/",
		autoExpandSelect: true,
		httpHeaders: { Authorization: `Bearer ${location.hash.slice(1)}` },
		updateGroupId: group
	});
	const rows = (path, context, parameters) => model.bindList(path, context, [], [], parameters);
	const row = async (path, $select) => {
		const binding = model.bindContext(path, undefined, { $select });
		await binding.requestObject();
		return binding.getBoundContext();
	};
	const numbers = (one) => [one.line_no, one.product_id, one.quantity].map(Number);
	const item = (line_no, product_id, quantity) => ({ line_no, product_id, quantity });

	/** Sends what waits, and returns the messages of the service as a refusal. What was refused is discarded, once `look` has looked. */
	async function save(look = () => {}) {
		Messaging.removeAllMessages();
		await model.submitBatch(group);
		const said = Messaging.getMessageModel().getData().map((message) => [message.getTargets()[0].replace(/\$uid=[^)]*/, "$uid"), message.getMessage()]);
		await look();
		model.resetChanges(group);
		Messaging.removeAllMessages();
		return { details: said };
	}

	/** Creates a row, and returns its context. */
	async function created(path, data, parameters) {
		const context = rows(path, undefined, parameters).create(data, true);
		await Promise.all([context.created(), model.submitBatch(group)]);
		return context;
	}

	/** Prepares an order with its items, in lists below each other. */
	function whole(amount, ...items) {
		const order = rows("/Orders", undefined, { $expand: "customer,items" }).create({ amount, status: "shipped", customer: { name: "Somerville" }, items: [] }, true);
		const below = rows("items", order, { $count: true });
		items.forEach((one) => below.create(one, true, true).created().catch(() => {}));
		order.created().catch(() => {});
		return order;
	}

	/** An order, its customer and its items in one request. The rules let it begin open. */
	async function documents(seen) {
		const deep = whole("100", item(1, 1, 2), item(2, 2, 3));
		await Promise.all([deep.created(), save()]);
		const { status, customer, items } = deep.getObject();
		seen.deep = { status, customer: customer.name, items: items.map(numbers) };
		whole("5", item(1, 1, 2), item(2, 2, -1));
		seen.nested = await save();
	}

	/** Links by the body, and rows below others, over a foreign key and over a table in between. */
	async function links(seen) {
		const bound = await created("/Orders", { amount: "50", status: "open", "customer@odata.bind": "Customers(1)" });
		const order = await row("/Orders(2)", "customer_id");
		await Promise.all([order.setProperty("customer@odata.bind", "Customers(2)"), save()]);
		seen.bound = [bound, await row("/Orders(2)", "customer_id")].map((one) => Number(one.getProperty("customer_id")));

		const below = await created("/Orders(2)/items", item("1", "2", "7"));
		seen.below = ["order_id", "line_no"].map((key) => Number(below.getProperty(key)));
		await created("/Products(2)/tags", { code: "steam", label: "Needs steam" });
		seen.tags = (await rows("/Products(2)/tags").requestContexts()).map((tag) => tag.getProperty("code"));
	}

	/** The same request twice, once in effect. Headers are those of the whole model, so these requests are sent without a batch. */
	async function repeated(seen) {
		const once = { "Repeatability-Request-ID": "openui5-1", "Repeatability-First-Sent": new Date().toUTCString() };
		model.changeHttpHeaders(once);
		const twice = [];
		for (let i = 0; i < 2; i++) {
			twice.push(await created("/Orders", { amount: "7", status: "open" }, { $$updateGroupId: "$direct" }));
		}
		model.changeHttpHeaders({ "Repeatability-Request-ID": undefined, "Repeatability-First-Sent": undefined });
		seen.repeated = [twice[0].getProperty("id") === twice[1].getProperty("id")];
	}

	/** What the rules refuse stands at the property and its field, in the language of the request. */
	async function rules(seen) {
		const engine = await row("/Products(1)", "price");
		const field = new Input({ value: "{price}" }).setModel(model).setBindingContext(engine);
		Messaging.registerObject(field, true);
		field.placeAt(document.body);
		engine.setProperty("price", "9").catch(() => {});
		seen.refused = await save(async () => {
			for (let i = 0; i < 100 && field.getValueState() === "None"; i++) { // messages reach fields in a later task
				await new Promise((resolve) => setTimeout(resolve, 100));
			}
			seen.field = [field.getValueState(), field.getValueStateText()];
		});
		model.changeHttpHeaders({ "Accept-Language": "de" });
		engine.setProperty("price", "9").catch(() => {});
		seen.german = (await save()).details[0][1];
		model.changeHttpHeaders({ "Accept-Language": "en" });
		const first = await row("/Orders(1)", "status");
		await Promise.all([first.setProperty("status", "confirmed"), save()]);
		first.delete(group).catch(() => {});
		seen.kept = await save();
	}

	/** An item is created and another deleted in one change set. What fails writes nothing. */
	async function groups(seen) {
		await created("/Orders", { amount: "9", status: "open", items: [item("1", "1", "1")] });
		const items = rows("/Orders(4)/items");
		const [old] = await items.requestContexts();
		old.delete(group);
		await Promise.all([items.create(item("2", "1", "4"), true).created(), save()]);
		seen.group = (await rows("/Orders(4)/items").requestContexts()).map((one) => numbers(one.getObject()));

		const engine = await row("/Products(1)", "price");
		engine.setProperty("price", "9").catch(() => {});
		rows("/Tags").create({ code: "gone", label: "Gone" }, true).created().catch(() => {});
		seen.undone = (await save()).details;
	}

	async function run() {
		const seen = {};
		for (const part of [documents, links, repeated, rules, groups]) {
			await part(seen);
		}
		return seen;
	}

	run().then((seen) => { window.answer = { seen }; }, (e) => { window.answer = { error: `${e.stack ?? e}` }; });
});
