sap.ui.define([], () => {
	"use strict";

	const low = 20n;

	return {
		/** The semantic state of a stock, an Edm.Int64 that arrives as text. */
		state(stock) {
			if (stock === null || stock === undefined || BigInt(stock) >= low) {
				return "None";
			}
			return BigInt(stock) === 0n ? "Error" : "Warning";
		}
	};
});
