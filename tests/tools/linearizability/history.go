// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/anishathalye/porcupine"
)

// operation is what a thread asked for and what it got.
type operation struct {
	Op     string `json:"op"`
	Key    int64  `json:"key"`    // of a map only
	Value  int64  `json:"value"`  // what was stored, pushed or added
	Result *int64 `json:"result"` // null: there was none; a truth value is 1 or 0
}

// line is an operation as it stands in a file. Times are numbers of a clock that all threads share
// and that never shows two of them the same time.
type line struct {
	operation
	Round  int    `json:"round"`  // rounds are checked apart from each other
	Client int    `json:"client"` // the thread
	Call   *int64 `json:"call"`   // when the operation began
	Return *int64 `json:"return"` // when it was over
}

type round struct {
	number     int
	operations []porcupine.Operation
}

// readHistory reads a file with one JSON object a line and sorts it into rounds.
func readHistory(file string, m *model) ([]round, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	byNumber := map[int][]porcupine.Operation{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		parsed, err := parse(lines.Bytes(), m)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		byNumber[parsed.Round] = append(byNumber[parsed.Round], porcupine.Operation{
			ClientId: parsed.Client, Input: parsed.operation, Call: *parsed.Call,
			Output: parsed.Result, Return: *parsed.Return})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(byNumber) == 0 {
		return nil, fmt.Errorf("%s: no operations", file)
	}
	rounds := make([]round, 0, len(byNumber))
	for number, operations := range byNumber {
		rounds = append(rounds, round{number, operations})
	}
	sort.Slice(rounds, func(i, j int) bool { return rounds[i].number < rounds[j].number })
	return rounds, nil
}

func parse(text []byte, m *model) (line, error) {
	var parsed line
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&parsed); err != nil {
		return parsed, err
	}
	switch {
	case !m.has(parsed.Op):
		return parsed, fmt.Errorf("field op: a %s has no operation %q", m.name, parsed.Op)
	case parsed.Call == nil:
		return parsed, fmt.Errorf("field call is missing")
	case parsed.Return == nil:
		return parsed, fmt.Errorf("field return is missing")
	case *parsed.Return <= *parsed.Call:
		return parsed, fmt.Errorf("field return: %d is not after call, %d", *parsed.Return, *parsed.Call)
	}
	return parsed, nil
}

func (o operation) String() string {
	result := "nothing"
	if o.Result != nil {
		result = fmt.Sprint(*o.Result)
	}
	return fmt.Sprintf("%s key %d value %d -> %s", o.Op, o.Key, o.Value, result)
}
