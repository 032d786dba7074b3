#if Service
  import Testing
  import Tracing

  @testable import CisternService

  @Suite struct FetchRecordTests {
    private final class Leader {}

    private let records = FetchRecords<Int>()
    private let first = Leader()
    private let second = Leader()

    @Test func `a record keeps the span of its leader, and a further attempt of the leader replaces it`() {
      let record = records.hold(1)
      #expect(record.begin(context(1), by: ObjectIdentifier(first)))
      #expect(record.begin(context(2), by: ObjectIdentifier(first)))
      #expect(!record.begin(context(3), by: ObjectIdentifier(second)))
      #expect(record.span?.context[Number.self] == 2)
    }

    @Test func `a span runs until its fetch returns, and a further attempt runs again`() {
      let record = records.hold(1)
      record.noteReturn()
      #expect(record.span == nil)
      #expect(record.begin(context(1), by: ObjectIdentifier(first)))
      #expect(record.span?.isRunning == true)
      record.noteReturn()
      #expect(record.span?.isRunning == false)
      #expect(record.begin(context(2), by: ObjectIdentifier(first)))
      #expect(record.span?.isRunning == true)
    }

    @Test func `concurrent loads of a key share a record, which its last holder removes`() {
      let record = records.hold(1)
      #expect(records.hold(1) === record && records.hold(2) !== record)
      records.release(record, of: 1)
      #expect(records.hold(1) === record)
      records.release(record, of: 1)
      records.release(record, of: 1)
      #expect(records.hold(1) !== record)
      #expect(records.count == 2)
    }

    /// A key whose deinitializer uses the records.
    private final class ReenteringKey: Hashable, Sendable {
      let records: FetchRecords<ReenteringKey>?

      init(_ records: FetchRecords<ReenteringKey>?) { self.records = records }

      deinit { _ = records?.count }

      static func == (left: ReenteringKey, right: ReenteringKey) -> Bool { true }

      func hash(into hasher: inout Hasher) {}
    }

    @Test func `a key is released outside the lock`() {
      let records = FetchRecords<ReenteringKey>()
      let ended = records.hold(ReenteringKey(records))
      records.end(ended, of: ReenteringKey(nil))
      let released = records.hold(ReenteringKey(records))
      records.release(released, of: ReenteringKey(nil))
      #expect(records.count == 0)
    }

    @Test func `an ended record leaves the record of a later fetch alone`() {
      let earlier = records.hold(1)
      let later = records.holdNew(1)
      records.end(earlier, of: 1)
      records.release(earlier, of: 1)
      let current = records.currentRecords(of: [1, 2])
      #expect(current.map(\.key) == [1] && current.first?.record === later)
      records.end(later, of: 1)
      #expect(records.count == 0)
    }

    private enum Number: ServiceContextKey {
      typealias Value = Int
    }

    private func context(_ number: Int) -> ServiceContext {
      var context = ServiceContext.topLevel
      context[Number.self] = number
      return context
    }
  }
#endif
