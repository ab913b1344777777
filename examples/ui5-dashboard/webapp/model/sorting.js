sap.ui.define([
	"sap/ui/core/Element",
	"sap/ui/core/library",
	"sap/ui/model/Sorter"
], (Element, core, Sorter) => {
	"use strict";

	const SortOrder = core.SortOrder;

	return {
		/** Sorts the rows by the item chosen in the menu of a column, and shows in all columns that nothing else counts. */
		sort(table, rows, chosen) {
			const order = chosen.getSortOrder();
			for (const column of table.getColumns()) {
				let indicator = SortOrder.None;
				for (const item of Element.getElementById(column.getHeaderMenu()).getQuickActions()[0].getItems()) {
					if (item !== chosen) {
						item.setSortOrder(SortOrder.None);
					} else {
						indicator = order;
					}
				}
				column.setSortIndicator?.(indicator); // the columns of sap.ui.table have none
			}
			rows.sort(order === SortOrder.None ? [] : new Sorter(chosen.getKey(), order === SortOrder.Descending));
		}
	};
});
