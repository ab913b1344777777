// Writes what two validators have to say of OpenAPI documents, one after the other, as
// JSON: a list of problems for each file.
import { readFile } from "node:fs/promises";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";

const config = await createConfig({ extends: ["minimal"], rules: {
	struct: "error", "no-unresolved-refs": "error", "no-identical-paths": "error", "path-parameters-defined": "error",
	"operation-parameters-unique": "error", "no-invalid-media-type-examples": "error", "no-invalid-parameter-examples": "error",
	"no-server-trailing-slash": "error", "path-declaration-must-exist": "error", "tag-description": "off",
	"operation-tag-defined": "error", "operation-2xx-response": "error", "operation-4xx-response": "error", "operation-summary": "error",
	"no-enum-type-mismatch": "error", "info-license": "off", "security-defined": "error", "operation-operationId": "error",
	"operation-operationId-unique": "error", "operation-operationId-url-safe": "error",
} });

const all = [];
for (const file of process.argv.slice(2)) {
	const source = await readFile(file, "utf8");
	const problems = (await lintFromString({ source, absoluteRef: file, config })).map((p) => `redocly: ${p.ruleId}: ${p.message} (${p.location[0]?.pointer})`);
	const found = await new Validator().validate(JSON.parse(source));
	if (!found.valid) problems.push(`schema: ${JSON.stringify(found.errors)}`);
	all.push(problems);
}
console.log(JSON.stringify(all));
