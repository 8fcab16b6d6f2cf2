/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scaling: how far do more GPUs help? A data-parallel job by GPUs, with the batch of a GPU
 * fixed and with the whole batch fixed, beside the closed form; tensor and pipeline parallelism;
 * products of the three. For teaching.
 *
 * Place: examples; run as a test too. Uses helper and libcrux's models.
 *
 *   ./crux run crux-scaling --nic_gbps=100
 *
 * Closed forms, with c seconds of computation, S bytes of gradients, n GPUs on one switch:
 *   all-reduce   t(n) = 2 (n-1)/n x 8 S / B + 2 (n-1) x latency, B the goodput of a network card
 *   batch fixed  T(n) = max(c, o c + t(n)), o the share of c after which gradients are ready
 *   whole batch  T(n) = c(n) + t(n), without overlap
 *   pipeline     bubble = (p-1) / (m+p-1) of an iteration, with equal stages
 */
#include "ns3/crux-figure.h"
#include "ns3/crux-train.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <iostream>

using namespace ns3;

namespace
{

/// What the command line sets.
struct Arguments
{
    double nic{50};               //!< Gbit/s of a network card
    std::string model{"bert"};    //!< of the model table
    std::string big{"gpt3-6.7b"}; //!< for products
    uint64_t most{64};            //!< GPUs
    std::string equal{CRUX_SOURCE_DIR "/examples/crux-scaling-equal.csv"}; //!< layers alike
};

/**
 * One GPU a host, all hosts on one switch.
 * \param args gives hosts and rate
 * \return description
 */
std::string
OneSwitch(const Arguments& args)
{
    return "clos:tors=1,gpus=1,nics=1,hosts=" + std::to_string(args.most) +
           ",nic_gbps=" + std::to_string(args.nic);
}

/**
 * \param args gives the rate
 * \param bytes of the gradients
 * \param n GPUs
 * \return seconds of a ring all-reduce
 */
double
AllReduce(const Arguments& args, double bytes, uint64_t n)
{
    const double payload = 4096;
    const double frame = payload + CRUX_FRAME_OVERHEAD;
    const double bps = args.nic * 1e9;
    // Two cables of 1 us; a frame is stored and sent on once.
    const double latency = 2 * 1e-6 + 8 * frame / bps;
    const double steps = 2 * (static_cast<double>(n) - 1);
    return steps / n * 8 * bytes / (bps * payload / frame) + steps * latency;
}

/**
 * The batch of a GPU is fixed: the curve bends where communication is no longer hidden.
 * \param figure runs it
 * \param args what was asked
 * \param model row of the model table
 */
void
Weak(const CruxFigure& figure, const Arguments& args, const crux_model* model)
{
    const double c =
        model->flop_per_gpu / (model->peak_flops * model->achieved) / figure.GetScale();

    CruxPrint(std::cout,
              "%s, batch of a GPU fixed, %g Gbit/s: hidden up to %.1f ms of all-reduce\n%6s %13s "
              "%13s %9s %13s %11s\n",
              args.model.c_str(),
              args.nic,
              1e3 * (1 - model->overlap_start) * c,
              "GPUs",
              "iteration ms",
              "closed form",
              "differ %",
              "all-reduce ms",
              "speed-up");
    for (uint64_t n = 1; n <= args.most; n *= 2)
    {
        const std::string job = args.model + ":" + std::to_string(n);
        const double t = figure.Run(OneSwitch(args), job, "ecmp")[0].jobs[0].iteration;
        const double bytes = static_cast<double>(model->gradient_bytes) / figure.GetScale();
        const double reduce = AllReduce(args, bytes, n);
        const double closed = std::max(c, model->overlap_start * c + reduce);
        CruxPrint(std::cout,
                  "%6llu %13.4f %13.4f %+9.4f %13.4f %11.3f\n",
                  static_cast<unsigned long long>(n),
                  1e3 * t,
                  1e3 * closed,
                  CruxChange(t / closed),
                  1e3 * reduce,
                  n * c / t);
    }
}

/**
 * The whole batch is fixed: computation shrinks, communication does not.
 * \param figure runs it
 * \param args what was asked
 * \param model row of the model table
 */
void
Strong(const CruxFigure& figure, const Arguments& args, const crux_model* model)
{
    double first = 0;
    const uint64_t batch = 32 * args.most;

    CruxPrint(std::cout,
              "\n%s, whole batch fixed at %llu, no overlap\n%6s %13s %13s %9s %13s %11s\n",
              args.model.c_str(),
              static_cast<unsigned long long>(batch),
              "GPUs",
              "iteration ms",
              "closed form",
              "differ %",
              "computes ms",
              "speed-up");
    for (uint64_t n = 1; n <= args.most; n *= 2)
    {
        const std::string job = args.model + ":" + std::to_string(n) +
                                ":recompute=full:batch=" + std::to_string(batch / n);
        const CruxFigureJob ran = figure.Run(OneSwitch(args), job, "ecmp")[0].jobs[0];
        const double closed =
            ran.aloneBusy + AllReduce(args, 4.0 * model->parameters / figure.GetScale(), n);
        first = n == 1 ? ran.iteration : first;
        CruxPrint(std::cout,
                  "%6llu %13.4f %13.4f %+9.4f %13.4f %11.3f\n",
                  static_cast<unsigned long long>(n),
                  1e3 * ran.iteration,
                  1e3 * closed,
                  CruxChange(ran.iteration / closed),
                  1e3 * ran.aloneBusy,
                  first / ran.iteration);
    }
}

/**
 * Tensor parallelism: an all-reduce behind every layer wants NVLink.
 * \param figure runs it
 */
void
Tensor(const CruxFigure& figure)
{
    const std::string places[] = {"clos:tors=1,hosts=1",
                                  "clos:tors=1,hosts=1,nvlink_gbps=0",
                                  "clos:tors=1,hosts=8,gpus=1,nics=1"};
    double first = 0;

    CruxPrint(std::cout,
              "\ngpt3-1.3b, 4 sequences, tensor parallel: speed-up\n%6s %13s %13s %13s\n",
              "GPUs",
              "NVLink",
              "PCIe",
              "network");
    for (int n = 1; n <= 8; n *= 2)
    {
        const std::string job = "gpt3-1.3b:" + std::to_string(n) + ":tp=" + std::to_string(n) +
                                ":batch=4:recompute=full";
        CruxPrint(std::cout, "%6d", n);
        for (const auto& place : places)
        {
            const double t = figure.Run(place, job, "ecmp")[0].jobs[0].iteration;
            first = first > 0 ? first : t;
            CruxPrint(std::cout, " %13.3f", first / t);
        }
        std::cout << "\n";
    }
}

/**
 * Pipeline parallelism: the bubble, with layers alike and with those of a transformer, whose
 * look-up and head make stages unequal. \param figure runs it \param args what was asked
 */
void
Pipeline(const CruxFigure& figure, const Arguments& args)
{
    CruxPrint(std::cout,
              "\npipeline (1f1b): GPUs idle, %% of an iteration\n%6s %13s %13s %15s %13s\n",
              "stages",
              "micro-batches",
              "layers alike",
              "(p-1)/(m+p-1)",
              "gpt3-1.3b");
    for (int p = 2; p <= 8; p *= 2)
    {
        for (int m = 4; m <= 64; m *= 4)
        {
            const std::string keys = ":" + std::to_string(p) + ":pp=" + std::to_string(p) +
                                     ":micro=" + std::to_string(m) +
                                     ":batch=1:recompute=full:split=flop";
            const std::string host = "clos:tors=1,hosts=1";
            const auto equal = figure.Run(host, "file:" + args.equal + keys, "ecmp")[0].jobs[0];
            const auto gpt = figure.Run(host, "gpt3-1.3b" + keys, "ecmp")[0].jobs[0];
            CruxPrint(std::cout,
                      "%6d %13d %13.2f %15.2f %13.2f\n",
                      p,
                      m,
                      100 * (1 - equal.aloneBusy / equal.aloneIteration),
                      100.0 * (p - 1) / (m + p - 1),
                      100 * (1 - gpt.aloneBusy / gpt.aloneIteration));
        }
    }
}

/**
 * Products of tensor, pipeline and data parallelism on 64 GPUs; what does not fit is said.
 * \param figure runs it
 * \param model name
 */
void
Products(const CruxFigure& figure, const std::string& model)
{
    const char* const keys[] = {"accumulate=8",
                                "accumulate=8:zero=1",
                                "accumulate=8:zero=3",
                                "tp=8:micro=64",
                                "pp=8:micro=64",
                                "tp=2:pp=4:micro=64",
                                "tp=4:pp=2:micro=64",
                                "tp=4:pp=4:micro=128",
                                "tp=8:pp=8:micro=512"};

    CruxPrint(std::cout,
              "\n%s, 512 sequences on 64 GPUs (8 hosts of the testbed)\n%-22s %9s %12s %13s %7s\n",
              model.c_str(),
              "parallel",
              "memory GB",
              "iteration s",
              "sequences/s",
              "busy %");
    for (const char* key : keys)
    {
        const std::string job = model + ":64:batch=1:recompute=full:bucket_mb=25:" + key;
        crux_train train{};
        crux_memory memory{};
        crux_error error{};
        CruxExitOnError("crux-scaling", crux_train_parse(job.c_str(), &train, &error), error);
        crux_train_memory(&train, &memory);
        const bool fits = crux_train_fits(&train, &error) == CRUX_OK;
        crux_train_clear(&train);
        CruxPrint(std::cout, "%-22s %9.2f", key, 1e-9 * memory.total);
        if (!fits)
        {
            std::cout << "    does not fit\n";
            continue;
        }
        const auto ran = figure.Run("clos:tors=1,hosts=8", job, "ecmp")[0].jobs[0];
        CruxPrint(std::cout,
                  " %12.4f %13.2f %7.1f\n",
                  ran.iteration,
                  512 / figure.GetScale() / ran.iteration,
                  100 * ran.aloneBusy / ran.aloneIteration);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments args;
    CruxCommandLine cmd("crux-scaling");
    CruxFigure figure("crux-scaling", cmd, 1);
    cmd.Add("nic_gbps", "Gbit/s of a network card of the data-parallel job", args.nic, 1, 1e5);
    cmd.Add("model", "data-parallel: gpt, bert or resnet", args.model);
    cmd.Add("big", "a transformer for tensor x pipeline x data parallelism", args.big);
    cmd.Add("most", "GPUs of the data-parallel job, from 1 on by doubling", args.most, 1, 1024);
    cmd.Add("layers", "a file of layers alike, for the pipeline (doc/models.md)", args.equal);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    const crux_model* model = nullptr;
    crux_error error{};
    CruxExitOnError("crux-scaling", crux_model_find(args.model.c_str(), &model, &error), error);
    figure.Check("clos:tors=1,hosts=1", "file:" + args.equal + ":8:pp=8", "ecmp");
    figure.Check("clos:tors=1,hosts=8", args.big + ":64:zero=3:recompute=full:batch=1", "ecmp");

    Weak(figure, args, model);
    Strong(figure, args, model);
    Tensor(figure);
    Pipeline(figure, args);
    Products(figure, args.big);
    return cmd.Finish(0);
}
