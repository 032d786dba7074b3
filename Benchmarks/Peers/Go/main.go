// The Go subjects of scripts/compare. Peers/README.md describes the arguments and the output.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	arguments := os.Args[1:]
	if len(arguments) == 5 && arguments[0] == "memory" {
		memory(arguments[1], arguments[2], number(arguments[3]), number(arguments[4]))
		return
	}
	if len(arguments) == 3 && arguments[0] == "coalescer" {
		coalescer(arguments[1], number(arguments[2]))
		return
	}
	fail("usage: memory SUBJECT KEY ENTRIES REQUESTS | coalescer SUBJECT CALLERS")
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fail(err.Error())
	}
	return value
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
