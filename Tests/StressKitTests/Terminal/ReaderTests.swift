import CisternTesting
import Testing
import TestDirectories

@testable import StressKit

/// Commands whose standard output loses its reader.
@Suite struct ReaderTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  @Test(arguments: [["list", "--keys-only"], ["export"]])
  func `a command stops after the write that no reader receives`(command: [String]) async {
    // An export writes a value of this size at once.
    let value = [UInt8](repeating: 1, count: 100_000)
    for key in ["a", "b", "c"] {
      #expect(await CommandRun(["put", store, "things", key, "--disk-limit", "2MiB"], input: value).status == 0)
    }
    let (writes, errors) = (Recorder<Int>(), Recorder<[UInt8]>())
    let console = Console(
      write: { writes.record($0.count) }, writeError: { errors.record($0) }, readNext: { [] }, isTerminal: false,
      outputState: { writes.elements.isEmpty ? .intact : .unread })
    let arguments = [command[0], store, "things"] + command.dropFirst()
    let status = await Console.$current.withValue(console) { await CisternProgram.run(arguments) }
    #expect(status == 0)
    #expect(writes.elements.count { $0 > 0 } == 1)
    #expect(errors.elements.isEmpty)
  }
}
