// SPDX-License-Identifier: Apache-2.0

// linearizability checks histories of concurrent operations with Porcupine: is there an order of
// the operations that agrees with their times and that a sequential object could have answered so?
//
//	linearizability MODEL FILE
//
// MODEL is map, queue or counter (models.go); FILE has one operation a line (history.go). The
// program prints a verdict for the file and, if it is not linearizable, a counterexample. It exits
// with 0: linearizable; 1: not; 2: wrong arguments or a malformed file; 3: not decided in time.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	exitNotLinearizable = 1
	exitUnusable        = 2
	exitUndecided       = 3
)

// patience is how long the check of one round may take.
const patience = time.Minute

func main() {
	if len(os.Args) != 3 || models[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "Usage: linearizability map|queue|counter FILE")
		os.Exit(exitUnusable)
	}
	model, file := models[os.Args[1]], os.Args[2]
	rounds, err := readHistory(file, model)
	if err != nil {
		fmt.Fprintf(os.Stderr, "linearizability: %v\n", err)
		os.Exit(exitUnusable)
	}
	operations := 0
	for _, round := range rounds {
		switch result, info := porcupine.CheckOperationsVerbose(model.porcupine(), round.operations, patience); result {
		case porcupine.Illegal:
			fmt.Printf("%s: round %d: not linearizable\n", file, round.number)
			explain(os.Stdout, model, round.operations, info)
			os.Exit(exitNotLinearizable)
		case porcupine.Unknown:
			fmt.Printf("%s: round %d: not decided within %v; record shorter rounds\n", file, round.number, patience)
			os.Exit(exitUndecided)
		}
		operations += len(round.operations)
	}
	fmt.Printf("%s: linearizable: %d operations in %d rounds\n", file, operations, len(rounds))
}
