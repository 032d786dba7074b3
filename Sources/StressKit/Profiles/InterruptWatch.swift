import Dispatch
import Foundation

/// Handlers of Ctrl-C, SIGTERM and SIGHUP. The first signal ends the run with a report, and the second one ends the
/// process.
final class InterruptWatch {
  private let signals: [Int32]
  private let sources: [any DispatchSourceSignal]

  /// - Parameters:
  ///   - stop: The signal that ends the run.
  ///   - remains: The files to remove before the end of the process.
  init(_ stop: StopSignal, removing remains: RunRemains) {
    // `nohup` ignores SIGHUP for its command. The run must then continue.
    signals = [SIGINT, SIGTERM, SIGHUP].filter { number in
      // Each is the address of a function, or a number that stands for the default or for ignoring.
      let former = unsafe unsafeBitCast(signal(number, SIG_IGN), to: Int.self)
      let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
      return number != SIGHUP || former != ignoring
    }
    sources = signals.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { InterruptWatch.respond(stop, removing: remains) { exit($0) } }
      source.activate()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// Responds to a signal: interrupts the run, or ends the process if the run is already interrupted.
  static func respond(_ stop: StopSignal, removing remains: RunRemains, endProcess: (Int32) -> Void) {
    guard stop.isInterrupted else { return stop.interrupt() }
    remains.remove()
    endProcess(130)
  }
}
