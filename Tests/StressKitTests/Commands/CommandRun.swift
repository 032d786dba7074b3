import Locking

@testable import StressKit

/// The result of a command: its exit code and its output.
struct CommandRun {
  let status: Int32
  let output: [UInt8]
  let errors: String

  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs the program inside this process. `read` provides its standard input.
  init(_ arguments: [String], reading read: @escaping @Sendable () throws -> [UInt8]) async {
    let captured = Captured()
    let console = Console(
      write: { bytes in captured.output.withLock { $0 += bytes } },
      writeError: { bytes in captured.errors.withLock { $0 += bytes } },
      readAll: read, isTerminal: false)
    status = await Console.$current.withValue(console) { await CisternProgram.run(arguments) }
    output = captured.output.withLock { $0 }
    errors = String(decoding: captured.errors.withLock { $0 }, as: UTF8.self)
  }

  init(_ arguments: [String], input: [UInt8] = []) async {
    await self.init(arguments, reading: { input })
  }

  init(_ arguments: String..., input: [UInt8] = []) async {
    await self.init(arguments, reading: { input })
  }

  private final class Captured: Sendable {
    let output = Guarded<[UInt8]>([])
    let errors = Guarded<[UInt8]>([])
  }
}
