// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"sort"

	"github.com/anishathalye/porcupine"
)

// model is a sequential object: its first state, and its operations as functions from a state to
// the result that they must have and the next state. A result is nil if there is none.
type model struct {
	name       string
	initial    interface{}
	operations map[string]func(state interface{}, o operation) (result *int64, next interface{})
	byKey      bool // operations on different keys do not touch each other
}

func (m *model) has(op string) bool { return m.operations[op] != nil }

func (m *model) porcupine() porcupine.Model {
	converted := porcupine.Model{
		Init: func() interface{} { return m.initial },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			o := input.(operation)
			result, next := m.operations[o.Op](state, o)
			return same(result, output.(*int64)), next
		},
	}
	if m.byKey {
		converted.Partition = partition
	}
	return converted
}

var models = map[string]*model{
	"map": {
		// One key: its value, or nil.
		name:    "map",
		initial: nil,
		byKey:   true,
		operations: map[string]func(interface{}, operation) (*int64, interface{}){
			"find": func(state interface{}, o operation) (*int64, interface{}) {
				if state == nil {
					return nil, nil
				}
				return number(state.(int64)), state
			},
			"insert": func(state interface{}, o operation) (*int64, interface{}) {
				if state != nil {
					return truth(false), state
				}
				return truth(true), o.Value
			},
			"insert_or_assign": func(state interface{}, o operation) (*int64, interface{}) {
				return truth(state == nil), o.Value
			},
			"erase": func(state interface{}, o operation) (*int64, interface{}) {
				return truth(state != nil), nil
			},
		},
	},
	"queue": {
		// The values, encoded one after the other: states are compared with ==, and slices cannot
		// be.
		name:    "queue",
		initial: "",
		operations: map[string]func(interface{}, operation) (*int64, interface{}){
			"push": func(state interface{}, o operation) (*int64, interface{}) {
				return nil, state.(string) + encode(o.Value)
			},
			"pop": func(state interface{}, o operation) (*int64, interface{}) {
				values := state.(string)
				if values == "" {
					return nil, values
				}
				return number(decode(values)), values[encodedSize:]
			},
		},
	},
	"counter": {
		name:    "counter",
		initial: int64(0),
		operations: map[string]func(interface{}, operation) (*int64, interface{}){
			"add": func(state interface{}, o operation) (*int64, interface{}) {
				return number(state.(int64)), state.(int64) + o.Value
			},
			"value": func(state interface{}, o operation) (*int64, interface{}) {
				return number(state.(int64)), state
			},
		},
	},
}

func number(n int64) *int64 { return &n }

func truth(t bool) *int64 {
	if t {
		return number(1)
	}
	return number(0)
}

func same(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// partition splits a history of a map into one for each key.
func partition(history []porcupine.Operation) [][]porcupine.Operation {
	byKey := map[int64][]porcupine.Operation{}
	for _, o := range history {
		key := o.Input.(operation).Key
		byKey[key] = append(byKey[key], o)
	}
	keys := make([]int64, 0, len(byKey))
	for key := range byKey {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	parts := make([][]porcupine.Operation, 0, len(keys))
	for _, key := range keys {
		parts = append(parts, byKey[key])
	}
	return parts
}

const encodedSize = 8

func encode(value int64) string {
	var bytes [encodedSize]byte
	binary.LittleEndian.PutUint64(bytes[:], uint64(value))
	return string(bytes[:])
}

func decode(values string) int64 {
	return int64(binary.LittleEndian.Uint64([]byte(values[:encodedSize])))
}
