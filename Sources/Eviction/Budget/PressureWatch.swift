#if canImport(Glibc)
  import Glibc
#endif
import Locking

#if !canImport(Darwin)
  /// A thread that waits for the kernel's memory pressure events on behalf of all stores of the process. It starts
  /// with the first store and uses one descriptor.
  final class PressureWatch: Sendable {
    static let shared = PressureWatch()

    private struct Reference: Sendable {
      weak var budget: MemoryBudget?
    }

    private struct State: Sendable {
      var budgets: [Int: Reference] = [:]
      var newest = 0
      /// The fork count of the process that started the thread; nil if no thread runs. A child process has no
      /// thread, and starts its own.
      var threadForkCount: UInt?
    }

    // Guarded by its own lock.
    private let state = Guarded(State())

    /// Adds a budget. Returns the number to remove it with.
    func add(_ budget: MemoryBudget) -> Int {
      let (number, needsThread) = state.withLock { state in
        state.newest += 1
        state.budgets[state.newest] = Reference(budget: budget)
        defer { state.threadForkCount = ForkCount.current }
        return (state.newest, state.threadForkCount != ForkCount.current)
      }
      if needsThread, !start() { state.withLock { $0.threadForkCount = nil } }
      return number
    }

    func remove(_ number: Int) {
      state.withLock { state in state.budgets[number] = nil }
    }

    /// Evicts half of each budget's cost, outside the lock.
    func respond() {
      let references = state.withLock { Array($0.budgets.values) }
      for reference in references { reference.budget?.releaseHalf() }
    }

    /// Starts the thread. Returns false if the kernel has no pressure events, or if no thread can be started.
    private func start() -> Bool {
      guard let pressure = Self.openTrigger() else { return false }
      do {
        try SystemThread.start { self.wait(for: pressure) }
        return true
      } catch {
        close(pressure)
        return false
      }
    }

    /// Responds to each event of a descriptor until it has no more.
    func wait(for pressure: Int32) {
      var descriptors = [pollfd(fd: pressure, events: Int16(POLLPRI), revents: 0)]
      while true {
        let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), -1)
        if ready < 0, errno == EINTR || errno == EAGAIN { continue }
        if ready < 0, errno == ENOMEM {
          // The kernel has no memory for the call itself, which is pressure as well.
          respond()
          sleep(1)
          continue
        }
        // Any other event means that the kernel has no more events, or that the program has closed or replaced the
        // descriptor.
        guard ready > 0, descriptors[0].revents == Int16(POLLPRI) else { break }
        respond()
      }
      // A number that is not open, or another file's, is not closed.
      if descriptors[0].revents & Int16(POLLERR) != 0 { close(pressure) }
      state.withLock { $0.threadForkCount = nil }
    }

    /// Opens a descriptor that signals when tasks wait for memory. Returns nil if the kernel does not offer this to
    /// the process.
    private static func openTrigger() -> Int32? {
      let descriptor = unsafe open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      // An unprivileged process may only use windows that are multiples of two seconds.
      let trigger = "some 300000 2000000"
      let length = trigger.utf8.count + 1
      guard unsafe write(descriptor, trigger, length) == length else {
        close(descriptor)
        return nil
      }
      return descriptor
    }
  }
#endif
