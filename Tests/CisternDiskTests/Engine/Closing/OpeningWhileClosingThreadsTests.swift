import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Openings of a directory whose last tier is closing, on threads for which this closing waits.
@Suite struct OpeningWhileClosingThreadsTests {
  private static func openError(_ scratch: TemporaryDirectory) -> CisternError.Code? {
    do {
      _ = try openTier(scratch)
      return nil
    } catch {
      return (error as? CisternError)?.code
    }
  }

  @Test
  func `a report handler on the writer thread of a closing tier cannot open the directory or wait`() async throws {
    let scratch = TemporaryDirectory()
    let (failing, code) = (Switch<DiskFaults.Fault>(), Switch<CisternError.Code?>())
    let (isReporting, isClosing) = (Monitor(false), Monitor(false))
    var options = DiskOptions(limit: .mebibytes(16), layout: .tested, durability: .processCrash)
    options.retryInterval = .unreachable
    options.commitInterval = .milliseconds(1)
    options.faults = DiskFaults { failing.take() }
    let tier = try DiskTier(directory: scratch.store, options: options) { _ in
      isReporting.change { $0 = true }
      isClosing.wait { $0 ? () : nil }
      code.set(.some(Self.openError(scratch)))
    }
    failing.set(.corrupted)
    try tier.cache().put("k", bytes("k"))
    await Task.detached(executorPreference: ThreadPerJob()) { isReporting.wait { $0 ? () : nil } }.value
    tier.withdraw()
    isClosing.change { $0 = true }
    await tier.engine.waitForStop()
    #expect(code.peek() == .some(.storeInUse))
    let again = try openTier(scratch)
    #expect(try again.cache().get("k") == bytes("k"))
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a read of a closing tier cannot open the directory, and does not wait`(isReadOnly: Bool) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 1)
    let tier = try openTier(scratch, isReadOnly: isReadOnly)
    let cache = try tier.cache()
    let code = await Task.detached(executorPreference: ThreadPerJob()) {
      let key = bytes("k0")
      return cache.withRecord(forKey: key.rawSpan) { _, _ -> CisternError.Code? in
        // A read-only tier closes its file on the thread that closes the tier.
        let isClosing = Monitor(false)
        try? SystemThread.start {
          tier.withdraw()
          isClosing.change { $0 = true }
        }
        if isReadOnly {
          while tier.engine.mode != .closed {}
        } else {
          isClosing.wait { $0 ? () : nil }
        }
        return Self.openError(scratch)
      }
    }.value
    #expect(code == .some(.storeInUse))
    await tier.engine.waitForStop()
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["k0"])
    try await again.close()
  }
}
