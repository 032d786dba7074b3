import CisternTestSupport
import CisternTesting

extension Subject {
  /// Loads a new value, and waits for the result. Cancels one load of three.
  func loadOrCancel(_ key: String, _ recorder: HistoryRecorder, _ generator: inout SeededGenerator) async {
    let load = load(key) { _ in
      await Task.yield()
      return recorder.newValue()
    }
    if generator.next(below: 3) == 0 { load.cancel() }
    _ = await load.result
  }
}
