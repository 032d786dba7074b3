import Locking

@testable import StressKit

/// The result of a command: its exit code and its output.
struct CommandRun {
  let status: Int32
  let output: [UInt8]
  let errors: String

  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs the program inside this process. `read` provides its standard input: the next bytes, or none at the end.
  init(_ arguments: [String], reading read: @escaping @Sendable () throws -> [UInt8]) async {
    await self.init(reading: read) { await CisternProgram.run(arguments) }
  }

  /// Runs the program with arguments that need not be text.
  init(bytes arguments: [[UInt8]]) async {
    await self.init(reading: { [] }) { await CisternProgram.run(arguments) }
  }

  private init(reading read: @escaping @Sendable () throws -> [UInt8], _ run: () async -> Int32) async {
    let captured = Captured()
    let console = Console(
      write: { bytes in captured.output.withLock { $0 += bytes } },
      writeError: { bytes in captured.errors.withLock { $0 += bytes } },
      readNext: read, isTerminal: false)
    status = await Console.$current.withValue(console) { await run() }
    output = captured.output.withLock { $0 }
    errors = String(decoding: captured.errors.withLock { $0 }, as: UTF8.self)
  }

  init(_ arguments: [String], input: [UInt8] = []) async {
    let input = Input(input)
    await self.init(arguments, reading: { input.next() })
  }

  init(_ arguments: String..., input: [UInt8] = []) async {
    await self.init(arguments, input: input)
  }

  private final class Input: Sendable {
    private let bytes: Guarded<[UInt8]>

    init(_ bytes: [UInt8]) {
      self.bytes = Guarded(bytes)
    }

    func next() -> [UInt8] {
      bytes.withLock { bytes in
        defer { bytes = [] }
        return bytes
      }
    }
  }

  private final class Captured: Sendable {
    let output = Guarded<[UInt8]>([])
    let errors = Guarded<[UInt8]>([])
  }
}
