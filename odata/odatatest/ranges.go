package odatatest

import "slices"

// ranges are results at the ends of their types: what leaves them is 400 where all is constant, before there is a row, and
// null within a row. Durations are exact to the microsecond, and comparisons look at all digits (OData-URL 5.1.1.2).
func ranges() []check {
	list := []check{
		refuse("9223372036854775807 add 1 gt id"), refuse("-9223372036854775808 sub 1 gt id"), refuse("9223372036854775807 mul 2 gt id"),
		refuse("-(-9223372036854775807 sub 1) gt id"), refuse("(-9223372036854775807 sub 1) div -1 gt id"),
		refuse("id gt 0 and length('ab') add 9223372036854775807 gt 0"), refuse("2024-02-29 add duration'P3000000D' gt born"),
		refuse("mindatetime() sub duration'PT0.000001S' lt seen"), refuse("duration'P100000000D' mul 2 gt duration'PT0S'"),
		refuse("case(false:9223372036854775807 add 1,true:2) eq id"), refuse("id eq 99 and false and duration'P1D' mul 1e12 gt duration'PT0S'"),
		{name: "constant in an order", target: "Things?$orderby=id,9223372036854775807 add 1", status: 400},
		{name: "constant in a computed column", target: "Things?$compute=2024-02-29 sub duration'P3000000D' as x", status: 400},
		expr("id eq 99 and (1 add 1 eq 2)", "-"),
	}
	for _, c := range slices.Concat(wholes(), shifts(), spans(), digits()) { // row, expression, value
		list = append(list, check{
			name: c[1] + " in row " + c[0], target: "Things(" + c[0] + ")?$select=x&$compute=" + c[1] + " as x",
			header: []string{"Accept", "application/json;odata.metadata=none"}, body: `{"x":` + c[2] + `}`,
		})
	}
	return append(list, expr("big add 1 gt 0", "3 4"), expr("not (big add 1 gt 0)", "1 2 5 6 7 8 9 10 11 12 13"), expr("big add 1 eq null and id lt 5", "1"))
}

func refuse(filter string) check {
	return check{name: filter, target: "Things?$filter=" + filter, status: 400}
}

// wholes are results of integers.
func wholes() [][3]string {
	return [][3]string{
		{"1", "big add 1", "null"},
		{"1", "1 add big", "null"},
		{"1", "big add -1", "9223372036854775806"},
		{"2", "big sub 1", "-9223372036854775808"},
		{"2", "big sub 2", "null"},
		{"2", "big sub 1 sub 1 add 1", "null"},
		{"2", "-(big sub 1)", "null"},
		{"2", "(big sub 1) div -1", "null"},
		{"2", "(big sub 1) div (id sub 3)", "null"},
		{"2", "(big sub 1) mod (id sub 3)", "0"},
		{"2", "(big sub 1) div id", "-4611686018427387904"},
		{"1", "-2 sub big", "null"},
		{"1", "-1 sub big", "-9223372036854775808"},
		{"2", "0 sub big", "9223372036854775807"},
		{"2", "1 sub big", "null"},
		{"1", "big mul 2", "null"},
		{"1", "big mul big", "null"},
		{"1", "big mul -1", "-9223372036854775807"},
		{"1", "big add id", "null"},
		{"1", "big sub id", "9223372036854775806"},
		{"1", "(big sub id) add id add id", "null"},
		{"1", "(big sub id sub id) add id add id", "9223372036854775807"},
		{"6", "big add 1", "null"},
	}
}

// shifts are points in time and durations.
func shifts() [][3]string {
	return [][3]string{
		{"1", "born add duration'P3000000D'", "null"},
		{"1", "born add duration'P2913114D'", `"9999-12-31"`},
		{"1", "born add duration'P2913115D'", "null"},
		{"1", "born sub duration'PT1S'", `"2024-02-28"`},
		{"1", "born sub duration'P738945D'", "null"},
		{"1", "seen sub duration'P800000D'", "null"},
		{"1", "seen add duration'PT0.000001S'", `"2024-02-29T23:59:59.500001Z"`},
		{"1", "seen add (maxdatetime() sub seen)", `"9999-12-31T23:59:59.999999Z"`},
		{"1", "(seen sub mindatetime()) add mindatetime()", `"2024-02-29T23:59:59.5Z"`},
		{"1", "seen add (seen sub mindatetime()) mul 4", "null"},
		{"1", "year((seen sub maxdatetime()) add mindatetime())", "null"},
		{"1", "maxdatetime() sub seen", `"P2913114DT0.499999S"`},
		{"1", "born sub 1900-01-01", `"P45349D"`},
		{"1", "born sub 0001-01-01", `"P738944D"`},
		{"1", "opens add duration'-PT8H0.000001S'", `"23:59:59.999999"`},
		{"1", "opens sub duration'P100000000DT9H'", `"23:00:00"`},
		{"1", "opens sub 23:59:59.999999", `"-PT15H59M59.999999S"`},
		{"1", "-(duration'PT1S' sub duration'PT1S')", `"PT0S"`},
		{"1", "-(0.5 sub 0.5)", "0"},
	}
}

// spans are durations that are multiplied, divided and written as text.
func spans() [][3]string {
	return [][3]string{
		{"1", "duration'P1D' mul big", "null"},
		{"1", "duration'PT0S' mul big", `"PT0S"`},
		{"4", "duration'PT1S' mul weight", `"PT0.1S"`},
		{"3", "duration'P1D' mul weight", "null"},
		{"4", "weight mul duration'PT0.000005S'", `"PT0.000001S"`},
		{"3", "duration'PT1S' mul price", `"-PT0.0001S"`},
		{"1", "duration'PT0.000007S' div price", `"PT0.000001S"`},
		{"1", "-duration'PT0.000003S' div (id add 1)", `"-PT0.000002S"`},
		{"3", "duration'PT1S' div price", `"-PT2H46M40S"`},
		{"3", "duration'PT1S' div weight", `"PT0S"`},
		{"1", "(opens sub opens) div (weight mul 1e-40)", `"PT0S"`},
		{"1", "(opens sub 07:00:00) div (weight mul 1e-40)", "null"},
		{"2", "duration'PT1S' div price", "null"},
		{"1", "duration'PT1S' div floor(price)", `"PT0.1S"`},
		{"1", "opens sub duration'P106751991DT4H54.775807S'", `"03:59:05.224193"`},
		{"1", "opens sub duration'-P106751991DT4H54.775808S'", `"12:00:54.775808"`},
		{"1", "born sub duration'-P106751991DT4H54.775808S'", "null"},
		{"1", "seen sub duration'-P106751991DT4H54.775808S'", "null"},
		{"1", "seen add duration'-P106751991DT4H54.775808S'", "null"},
		{"1", "-(duration'-P106751991DT4H54.775807S' sub duration'PT0.000001S' mul id)", "null"},
		{"1", "cast(duration'-P106751991DT4H54.775807S' sub duration'PT0.000001S' mul id,Edm.String)", `"-P106751991DT4H54.775808S"`},
		{"1", "duration'P53375995DT14H27.387904S' div (0.5 sub id)", `"-P106751991DT4H54.775808S"`},
		{"1", "duration'P53375995DT14H27.387905S' div (0.5 sub id)", "null"},
		{"1", "duration'P53375995DT14H27.387904S' div (id sub 0.5)", "null"},
		{"1", "-(born sub 0001-01-01)", `"-P738944D"`},
		{"1", "cast(born sub 0001-01-01,Edm.String)", `"P738944D"`},
		{"1", "cast(seen sub 2024-03-02T01:02:04.25Z,Edm.String)", `"-P1DT1H2M4.75S"`},
		{"1", "cast(seen sub seen,Edm.String)", `"PT0S"`},
		{"1", "cast(cast(seen,Edm.String),Edm.TimeOfDay)", `null`},
		{"1", "cast(cast(seen,Edm.String),Edm.DateTimeOffset) sub seen", `"PT0S"`},
		{"1", "cast(opens sub 07:00:00,Edm.String)", `"PT1H"`},
		{"5", "cast(seen sub mindatetime(),Edm.String)", "null"},
		{"1", "cast(duration'PT1H',Edm.String)", `"PT1H"`},
		{"1", "totalseconds(seen sub 2024-02-29T23:59:59.499999Z)", "0.000001"},
		{"1", "totalseconds(born sub 0001-01-01)", "63844761600"},
	}
}

// digits are comparisons with more digits of a second than databases keep, and extreme arguments.
func digits() [][3]string {
	return [][3]string{
		{"1", "seen eq 2024-02-29T23:59:59.5000001Z", "false"},
		{"1", "seen ne 2024-02-29T23:59:59.5000001Z", "true"},
		{"1", "seen gt 2024-02-29T23:59:59.4999999Z", "true"},
		{"1", "seen ge 2024-02-29T23:59:59.5000001Z", "false"},
		{"1", "2024-02-29T23:59:59.5000001Z gt seen", "true"},
		{"1", "2024-02-29T23:59:59.4999999Z ge seen", "false"},
		{"1", "seen in (2024-02-29T23:59:59.5000001Z,2024-02-29T23:59:59.500000000Z)", "true"},
		{"1", "opens lt 08:00:00.0000001", "true"},
		{"1", "opens ge 07:59:59.9999999", "true"},
		{"1", "(opens sub 08:00:00.000001) lt duration'-PT0.0000009S'", "true"},
		{"1", "(opens sub 08:00:00.000001) le duration'-PT0.0000011S'", "false"},
		{"1", "(opens sub 08:00:00.000001) gt duration'-PT0.0000011S'", "true"},
		{"1", "opens add duration'PT0.0000009S'", `"08:00:00"`},
		{"1", "substring(name,9223372036854775807,9223372036854775807)", `""`},
		{"1", "substring(name,1,9223372036854775807)", `"nvil"`},
		{"1", "substring(name,-9223372036854775808,2)", `"An"`},
		{"1", "substring(name,big,big)", `""`},
	}
}
