/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gpu-driven: what it costs who drives communication: the CPU, the GPU by a software engine,
 * the GPU by a hardware engine (Hwang and others, ARK, NSDI 2023).
 *
 * Place: examples; run as a test too. Uses helper and libcrux's drives.
 *
 *   ./crux run crux-gpu-driven --bps=400e9
 *
 * First the latency and throughput of messages by their size: inputs of the model and what follows
 * from them directly. Then a prediction: a transformer with tensor parallelism, whose many small
 * all-reduces wait for each other, run as a program under each drive.
 */
#include "ns3/crux-figure.h"
#include "ns3/crux-gpu.h"
#include "ns3/crux-train.h"
#include "ns3/nstime.h"

#include <iostream>

using namespace ns3;

namespace
{

const char* const DRIVES[] = {"cpu", "gpu-sw", "gpu-hw"};

/**
 * \param name of a drive
 * \return it
 */
const crux_drive*
Drive(const std::string& name)
{
    const crux_drive* drive = nullptr;
    crux_error error{};
    CruxExitOnError("crux-gpu-driven", crux_drive_find(name.c_str(), &drive, &error), error);
    return drive;
}

/**
 * Latency and throughput of messages of 1 KiB to 64 MiB.
 * \param bps rate of the link
 */
void
PrintMessages(double bps)
{
    CruxPrint(std::cout, "Messages over %g Gbit/s\n%10s", bps * 1e-9, "KiB");
    for (const char* name : DRIVES)
    {
        CruxPrint(std::cout, " %9s us %8s Gb/s", name, name);
    }
    std::cout << "\n";
    for (uint64_t bytes = 1024; bytes <= 64 << 20; bytes *= 2)
    {
        CruxPrint(std::cout, "%10llu", static_cast<unsigned long long>(bytes / 1024));
        for (const char* name : DRIVES)
        {
            CruxPrint(std::cout,
                      " %12.2f %13.3f",
                      1e6 * crux_drive_message_s(Drive(name), bytes, bps),
                      8e-9 * crux_drive_throughput_Bps(Drive(name), bytes, bps));
        }
        std::cout << "\n";
    }
    CruxPrintPublished(std::cout,
                       "throughput at 8 KiB, gpu-hw over cpu",
                       3.9,
                       3.9,
                       {crux_drive_throughput_Bps(Drive("gpu-hw"), 8192, bps) /
                        crux_drive_throughput_Bps(Drive("cpu"), 8192, bps)},
                       "x");
    // A stream that is 3.9 times slower than the line rate has 2.9 times a message's own time
    // between.
    CruxPrint(
        std::cout,
        "  (the serial model takes the whole latency for every message; 3.9 x is %.2f us between "
        "messages\n  instead of %.0f us: doc/gpu-hosts.md)\n",
        1e6 * (3.9 - 1) * 8 * 8192 / bps,
        1e6 * Drive("cpu")->latency_s);
}

/// A workload on one kind of links.
struct Workload
{
    std::string label;    //!< for the table
    std::string topology; //!< what carries the all-reduces
};

/**
 * \param model with transformer layers
 * \param tp GPUs
 * \param drive name
 * \param batch samples of a step
 * \return the job's description
 */
std::string
Describe(const std::string& model, uint64_t tp, const std::string& drive, double batch)
{
    const std::string gpus = std::to_string(tp);
    return model + ":" + gpus + ":tp=" + gpus + ":drive=" + drive +
           ":batch=" + std::to_string(static_cast<uint64_t>(batch));
}

/**
 * Bytes of an all-reduce: the output of a transformer layer.
 * \param job description
 * \return bytes; 0 without such a layer
 */
uint64_t
ReducedBytes(const std::string& job)
{
    crux_train train{};
    crux_error error{};
    uint64_t bytes = 0;

    CruxExitOnError("crux-gpu-driven", crux_train_parse(job.c_str(), &train, &error), error);
    for (uint32_t i = 0; i < train.net->n_layers && bytes == 0; i++)
    {
        if (train.net->layers[i].kind == CRUX_LAYER_TRANSFORMER)
        {
            bytes = static_cast<uint64_t>(train.net->layers[i].output * train.batch *
                                          crux_train_element_bytes(&train));
        }
    }
    crux_train_clear(&train);
    return bytes;
}

/**
 * The workload under each drive, a row for each batch.
 * \param figure runs it
 * \param work where
 * \param model with transformer layers
 * \param tp GPUs
 * \param batches samples of a step
 */
void
PrintWorkload(const CruxFigure& figure,
              const Workload& work,
              const std::string& model,
              uint64_t tp,
              const std::vector<double>& batches)
{
    const std::string gpus = std::to_string(tp);
    double first[2] = {0, 0};

    CruxPrint(std::cout,
              "\n%s on %s GPUs, tensor parallel, %s\n",
              model.c_str(),
              gpus.c_str(),
              work.label.c_str());
    CruxPrint(std::cout,
              "%7s %9s %14s %12s %13s %13s %13s %13s\n",
              "batch",
              "MB each",
              "cpu: iter. ms",
              "all-red. ms",
              "gpu-sw: iter.",
              "all-reduce",
              "gpu-hw: iter.",
              "all-reduce");
    for (double batch : batches)
    {
        double iteration[3];
        double reduce[3];
        for (int d = 0; d < 3; d++)
        {
            const std::string job = Describe(model, tp, DRIVES[d], batch);
            const CruxFigureJob ran = figure.Run(work.topology, job, "ecmp")[0].jobs[0];
            // Computation and all-reduces never overlap here: what is not the one is the other.
            iteration[d] = ran.iteration;
            reduce[d] = ran.iteration - ran.aloneBusy;
        }
        CruxPrint(std::cout,
                  "%7.0f %9.3f %14.3f %12.3f %12.3fx %12.3fx %12.3fx %12.3fx\n",
                  batch,
                  1e-6 * ReducedBytes(Describe(model, tp, DRIVES[0], batch)),
                  1e3 * iteration[0],
                  1e3 * reduce[0],
                  iteration[0] / iteration[1],
                  reduce[0] / reduce[1],
                  iteration[0] / iteration[2],
                  reduce[0] / reduce[2]);
        if (first[0] == 0)
        {
            first[0] = reduce[0] / reduce[2];
            first[1] = iteration[0] / iteration[2];
        }
    }
    CruxPrintPublished(std::cout, "all-reduce throughput, first row", 1.8, 1.8, {first[0]}, "x");
    CruxPrintPublished(std::cout, "iteration, first row (up to)", 1, 2.1, {first[1]}, "x");
}

} // namespace

int
main(int argc, char* argv[])
{
    double bps = 100e9;
    std::string topology{"all"};
    std::string model{"gpt3-1.3b"};
    std::string batches{"1,2,4,8"};
    uint64_t tp = 8;
    CruxCommandLine cmd("crux-gpu-driven");
    CruxFigure figure("crux-gpu-driven", cmd, 1);
    cmd.Add("bps", "bit/s of the link of the table of messages", bps, 1e6, 1e15);
    cmd.Add("topology", "of the workload; all: over network, over PCIe, over NVLink", topology);
    cmd.Add("model", "with transformer layers (doc/models.md)", model);
    cmd.Add("batch", "samples of a step, a row each", batches);
    cmd.Add("tp", "GPUs that share each layer", tp, 2, 1024);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    std::vector<Workload> works{{topology, topology}};
    if (topology == "all")
    {
        works = {{"a GPU a host, 200 Gbit/s", "clos:tors=1,hosts=8,gpus=1,nics=1"},
                 {"PCIe, no NVLink", "testbed:nvlink_gbps=0"},
                 {"NVLink", "testbed"}};
    }
    const std::vector<double> numbers = figure.Numbers("batch", batches, 1, 1e6);
    for (const auto& work : works)
    {
        for (double batch : numbers)
        {
            figure.Check(work.topology, Describe(model, tp, DRIVES[0], batch), "ecmp");
        }
    }
    PrintMessages(bps);
    for (const auto& work : works)
    {
        PrintWorkload(figure, work, model, tp, numbers);
    }
    return cmd.Finish(0);
}
