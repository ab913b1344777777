package syntax

// Walk calls visit for an expression and for everything below it: operands, arguments, keys, predicates of any and all,
// and the options behind $count. It goes from the outside in and from left to right.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch e := e.(type) {
	case *Path:
		for i := range e.Segments {
			walkSegment(&e.Segments[i], visit)
		}
	case *Binary:
		Walk(e.X, visit)
		Walk(e.Y, visit)
	case *Unary:
		Walk(e.X, visit)
	case *Call:
		walkAll(e.Args, visit)
	case *Cast:
		Walk(e.X, visit)
	case *IsOf:
		Walk(e.X, visit)
	case *Case:
		for _, w := range e.When {
			Walk(w.Cond, visit)
			Walk(w.Value, visit)
		}
	case *List:
		walkAll(e.Items, visit)
	case *These:
		if e.Item != nil {
			Walk(e.Item.Expr, visit)
		}
	case *IsDefined:
		Walk(e.Path, visit)
	case *Object:
		for _, m := range e.Members {
			Walk(m.Value, visit)
		}
	}
}

func walkAll(list []Expr, visit func(Expr)) {
	for _, e := range list {
		Walk(e, visit)
	}
}

func walkSegment(seg *Segment, visit func(Expr)) {
	for _, list := range []*ArgList{seg.Args, seg.Key} {
		if list == nil {
			continue
		}
		for _, a := range list.Args {
			Walk(a.Value, visit)
		}
	}
	if seg.Lambda != nil {
		Walk(seg.Lambda.Pred, visit)
	}
	if seg.Options == nil {
		return
	}
	Walk(seg.Options.Filter, visit)
	for _, item := range seg.Options.OrderBy {
		Walk(item.Expr, visit)
	}
	for _, item := range seg.Options.Compute {
		Walk(item.Expr, visit)
	}
	for _, a := range seg.Options.Aliases {
		Walk(a.Value, visit)
	}
}
