// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"sort"

	"github.com/anishathalye/porcupine"
)

// explain prints a counterexample: of the first part (a key of a map, else everything) that has no
// order, the longest order that could be found for a beginning, and the operations that fit nowhere
// behind it although they are over.
func explain(out io.Writer, m *model, history []porcupine.Operation, info porcupine.LinearizationInfo) {
	parts := [][]porcupine.Operation{history}
	if m.byKey {
		parts = partition(history)
	}
	for i, partials := range info.PartialLinearizationsOperations() {
		longest := []porcupine.Operation{}
		for _, partial := range partials {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
		if len(longest) == len(parts[i]) {
			continue
		}
		const shown = 8
		if skipped := len(longest) - shown; skipped > 0 {
			fmt.Fprintf(out, "  in this order, after %d others:\n", skipped)
			longest, parts[i] = longest[skipped:], without(parts[i], longest[:skipped])
		} else {
			fmt.Fprintln(out, "  in this order:")
		}
		for _, o := range longest {
			show(out, o)
		}
		fmt.Fprintln(out, "  and then none of these:")
		rest := without(parts[i], longest)
		for j, o := range rest {
			if j == shown {
				fmt.Fprintf(out, "    and %d more\n", len(rest)-shown)
				break
			}
			show(out, o)
		}
		return
	}
}

func show(out io.Writer, o porcupine.Operation) {
	fmt.Fprintf(out, "    thread %d, %d to %d: %v\n", o.ClientId, o.Call, o.Return, o.Input)
}

// without returns the operations of history that are not in taken, by the times when they began, of
// which no two are the same.
func without(history, taken []porcupine.Operation) []porcupine.Operation {
	gone := map[int64]bool{}
	for _, o := range taken {
		gone[o.Call] = true
	}
	rest := []porcupine.Operation{}
	for _, o := range history {
		if !gone[o.Call] {
			rest = append(rest, o)
		}
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].Call < rest[j].Call })
	return rest
}
