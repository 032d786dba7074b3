/// The progress of a run on standard error. A terminal shows one line that is overwritten. Other outputs receive a
/// new line every few seconds.
struct ProgressLine: Sendable {
  let runState: RunState
  let tallies: [Tally]
  let start: UInt64

  /// Prints the progress until the task is cancelled.
  func run() async {
    let console = Console.current
    let interval: Duration = console.isTerminal ? .milliseconds(250) : .seconds(5)
    var last = (time: start, operations: 0)
    while true {
      do {
        try await Task.sleep(for: interval)
      } catch {
        break
      }
      let now = Ticks.now()
      let operations = tallies.reduce(0) { $0 + $1.operations }
      let line = line(at: now, operations: operations, rate: rate(operations - last.operations, over: now - last.time))
      last = (now, operations)
      if console.isTerminal {
        // Moves to the start of the line, and clears it.
        console.writeError(Array("\r\u{1B}[K\(line)".utf8))
      } else {
        console.printError(line)
      }
    }
    if console.isTerminal { console.writeError(Array("\r\u{1B}[K".utf8)) }
  }

  private func rate(_ operations: Int, over nanoseconds: UInt64) -> Int {
    nanoseconds == 0 ? 0 : Int(Double(operations) / Double(nanoseconds) * 1e9)
  }

  private func line(at now: UInt64, operations: Int, rate: Int) -> String {
    let seconds = Formatting.fixed(Double(now - start) / 1e9, decimals: 0)
    let share = Int(runState.stop.progress(at: now, since: start) * 100)
    let hits = tallies.reduce(0) { $0 + $1.count(of: .memory) + $1.count(of: .disk) }
    let requests = runState.originRequests.load(ordering: .relaxed)
    return """
      \(seconds) s  \(share) %  \(Formatting.count(operations)) operations, \(Formatting.count(rate)) per second  \
      \(Formatting.count(hits)) hits  \(Formatting.count(requests)) fetches  \(runState.violations.count) violations
      """
  }
}
