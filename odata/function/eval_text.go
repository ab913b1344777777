package function

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// evalConcat is concat. OData-URL 5.1.1.5.1
func evalConcat(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return plan.Value{Bytes: append(append([]byte{}, args[0].Bytes...), args[1].Bytes...)}, nil
}

// evalContains is contains, startswith and endswith. OData-URL 5.1.1.5.2, 5.1.1.5.3, 5.1.1.5.6
func evalContains(c *plan.Call, args []plan.Value) (plan.Value, error) {
	find := map[string]func(a, b []byte) bool{"contains": bytes.Contains, "startswith": bytes.HasPrefix, "endswith": bytes.HasSuffix}[c.Name]
	return boolValue(find(args[0].Bytes, args[1].Bytes))
}

// evalIndexOf counts characters from 0; -1 when the text is not there. OData-URL 5.1.1.5.4
func evalIndexOf(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	i := bytes.Index(args[0].Bytes, args[1].Bytes)
	if i < 0 {
		return intValue(-1)
	}
	return intValue(int64(utf8.RuneCount(args[0].Bytes[:i])))
}

// evalLength counts characters. OData-URL 5.1.1.5.5
func evalLength(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return intValue(int64(utf8.RuneCount(args[0].Bytes)))
}

// evalSubstring cuts a part out of a text. OData-URL 5.1.1.5.7
func evalSubstring(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	start := args[1].Int
	if start < 0 {
		start += int64(utf8.RuneCount(args[0].Bytes))
	}
	rest := skip(args[0].Bytes, start)
	if len(args) == 3 {
		rest = rest[:len(rest)-len(skip(rest, args[2].Int))]
	}
	return plan.Value{Bytes: append([]byte{}, rest...)}, nil
}

// skip is a text without its first n characters.
func skip(text []byte, n int64) []byte {
	for ; n > 0 && len(text) > 0; n-- {
		_, size := utf8.DecodeRune(text)
		text = text[size:]
	}
	return text
}

// evalLetterCase is tolower and toupper: letter for letter, in no language in particular. OData-URL 5.1.1.7.2,
// 5.1.1.7.3
func evalLetterCase(c *plan.Call, args []plan.Value) (plan.Value, error) {
	if c.Name == "tolower" {
		return plan.Value{Bytes: bytes.ToLower(args[0].Bytes)}, nil
	}
	return plan.Value{Bytes: bytes.ToUpper(args[0].Bytes)}, nil
}

// evalTrim takes the white space of ASCII from both ends. OData-URL 5.1.1.7.4
func evalTrim(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return plan.Value{Bytes: append([]byte{}, bytes.Trim(args[0].Bytes, " \t\n\v\f\r")...)}, nil
}

// prepareMatches reads the pattern, which checkPattern has seen, once. OData-URL 5.1.1.7.1
func prepareMatches(c *plan.Call) (Eval, error) {
	l, ok := c.Args[1].(*plan.Literal)
	if !ok {
		return nil, fmt.Errorf("the pattern of %s is no constant", c.Name)
	}
	re, err := regexp.Compile(string(l.Value.Bytes))
	if err != nil {
		return nil, fmt.Errorf("read pattern: %w", err)
	}
	return func(args []plan.Value) (plan.Value, error) { return boolValue(re.Match(args[0].Bytes)) }, nil
}
